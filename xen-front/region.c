// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: granted pages that a program and its worker both map.
 */
#include "front.h"

#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../hypercall/compat.h"

/* Pages that are mapped between two chances for others to run. */
#define MAP_BATCH 4096ul

struct vcuda_front_region *
vcuda_front_region_create(struct vcuda_front_session *session, u32 pages)
{
	domid_t domid = session->conn->domid;
	struct vcuda_front_region *region;
	int err;

	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return ERR_PTR(-ENOMEM);
	kref_init(&region->kref);
	INIT_LIST_HEAD(&region->request.list);
	region->session = session;
	err = vcuda_grant_run_create(&region->run, pages, domid, false);
	if (!err)
		err = vcuda_directory_build(&region->directory, domid,
					    &region->run);
	if (err) {
		vcuda_front_region_put(region);
		return ERR_PTR(err);
	}
	return region;
}

static void region_free(struct kref *kref)
{
	struct vcuda_front_region *region =
		container_of(kref, struct vcuda_front_region, kref);

	vcuda_directory_free(&region->directory);
	vcuda_grant_run_free(&region->run);
	kfree(region);
}

void vcuda_front_region_put(struct vcuda_front_region *region)
{
	kref_put(&region->kref, region_free);
}

int vcuda_front_region_submit(struct vcuda_front_region *region, u32 index,
			      const struct vcuda_ctl *msg)
{
	struct vcuda_front_session *session = region->session;
	struct vcuda_front_request *request = &region->request;
	int err;

	region->index = index;
	region->state = VCUDA_REGION_ADDING;
	request->msg = *msg;
	request->msg.session = session->id;
	request->msg.region = index;
	request->msg.pages = region->run.granted;
	request->msg.dir_ref = vcuda_directory_ref(&region->directory);

	kref_get(&region->kref);
	session->regions[index] = region;
	err = vcuda_front_session_submit(session, request);
	if (err) {
		session->regions[index] = NULL;
		vcuda_front_region_put(region);
	}
	return err;
}

/*
 * Under the session's lock: the backend has no mapping of it. The caller wakes
 * and then drops the place's reference.
 */
static void region_gone(struct vcuda_front_region *region)
{
	region->session->regions[region->index] = NULL;
	vcuda_grant_run_end(&region->run);
	WRITE_ONCE(region->state, VCUDA_REGION_GONE);
}

static void region_done(struct vcuda_front_request *request, int status)
{
	struct vcuda_front_region *region =
		container_of(request, struct vcuda_front_region, request);
	struct vcuda_front_session *session = region->session;
	bool added = request->msg.op == VCUDA_CTL_REGION_ADD;
	/* A refused ADD leaves no region, a refused DEL leaves it as it was. */
	bool gone = added ? status : !status;

	vcuda_directory_free(&region->directory);
	mutex_lock(&session->lock);
	region->status = status;
	if (gone)
		region_gone(region);
	else
		WRITE_ONCE(region->state, VCUDA_REGION_LIVE);
	mutex_unlock(&session->lock);
	wake_up_all(&session->wait);
	if (gone)
		vcuda_front_region_put(region);
	vcuda_front_session_answered(session);
}

/*
 * Waits for the answer to a request that the backend's kernel answers at once.
 * Only a kill ends the wait early; a save of the guest does not wait for it.
 */
static int wait_for_answer(struct vcuda_front_region *region,
			   enum vcuda_region_state until_not)
{
	struct vcuda_front_session *session = region->session;
	int err;

	err = wait_event_state(session->wait,
			       READ_ONCE(region->state) != until_not ||
			       vcuda_front_session_dead(session),
			       (TASK_KILLABLE | TASK_FREEZABLE));
	if (err)
		return -EINTR;
	if (READ_ONCE(region->state) == until_not)
		return -EPIPE;
	return READ_ONCE(region->status);
}

/* Under the session's lock: an index that is free, or -ENOSPC. */
static int free_place(const struct vcuda_front_session *session)
{
	unsigned int i;

	for (i = 1; i < VCUDA_REGIONS_MAX; i++)
		if (!session->regions[i])
			return i;
	return -ENOSPC;
}

static int send_add(struct vcuda_front_region *region)
{
	const struct vcuda_ctl msg = { .op = VCUDA_CTL_REGION_ADD };
	struct vcuda_front_session *session = region->session;
	int index;
	int err;

	region->request.done = region_done;
	mutex_lock(&session->lock);
	index = free_place(session);
	if (vcuda_front_session_dead(session))
		err = -EPIPE;
	else if (session->regions[0]->state != VCUDA_REGION_LIVE)
		err = -ENOTCONN;
	else if (index < 0)
		err = index;
	else
		err = vcuda_front_region_submit(region, index, &msg);
	mutex_unlock(&session->lock);
	return err;
}

int vcuda_front_region_add(struct vcuda_front_session *session, u64 bytes,
			   u32 *index)
{
	struct vcuda_front_region *region;
	int err;

	if (!bytes || bytes & ~PAGE_MASK ||
	    bytes >> PAGE_SHIFT > VCUDA_REGION_PAGES_MAX)
		return -EINVAL;
	region = vcuda_front_region_create(session, bytes >> PAGE_SHIFT);
	if (IS_ERR(region))
		return PTR_ERR(region);
	err = send_add(region);
	if (!err)
		err = wait_for_answer(region, VCUDA_REGION_ADDING);
	if (!err)
		*index = region->index;
	vcuda_front_region_put(region);
	return err;
}

/* Under the session's lock. */
static int send_del(struct vcuda_front_region *region)
{
	struct vcuda_front_session *session = region->session;
	struct vcuda_front_request *request = &region->request;
	int err;

	/* Mapping takes the lock too: none begins from here on. */
	if (region->state != VCUDA_REGION_LIVE ||
	    atomic_read(&region->mappings))
		return -EBUSY;
	memset(&request->msg, 0, sizeof(request->msg));
	request->msg.op = VCUDA_CTL_REGION_DEL;
	request->msg.session = session->id;
	request->msg.region = region->index;
	region->state = VCUDA_REGION_DELETING;
	err = vcuda_front_session_submit(session, request);
	if (err)
		region->state = VCUDA_REGION_LIVE;
	return err;
}

int vcuda_front_region_del(struct vcuda_front_session *session, u32 index)
{
	struct vcuda_front_region *region;
	int err;

	/* Region 0 goes with the session. */
	if (!index || index >= VCUDA_REGIONS_MAX)
		return -EINVAL;
	mutex_lock(&session->lock);
	region = session->regions[index];
	if (region) {
		kref_get(&region->kref);
		err = send_del(region);
	} else {
		err = -ENOENT;
	}
	mutex_unlock(&session->lock);
	if (!region)
		return err;
	if (!err)
		err = wait_for_answer(region, VCUDA_REGION_DELETING);
	vcuda_front_region_put(region);
	return err;
}

static void region_vm_open(struct vm_area_struct *vma)
{
	struct vcuda_front_region *region = vma->vm_private_data;

	kref_get(&region->kref);
	atomic_inc(&region->mappings);
}

static void region_vm_close(struct vm_area_struct *vma)
{
	struct vcuda_front_region *region = vma->vm_private_data;

	atomic_dec(&region->mappings);
	vcuda_front_region_put(region);
}

static const struct vm_operations_struct region_vm_ops = {
	.open = region_vm_open,
	.close = region_vm_close,
};

static int insert_pages(struct vm_area_struct *vma,
			const struct vcuda_grant_run *run)
{
	unsigned long done = 0;
	int err = 0;

	while (!err && done < run->count) {
		unsigned long count = min(run->count - done, MAP_BATCH);
		unsigned long left = count;

		err = vm_insert_pages(vma, vma->vm_start + (done << PAGE_SHIFT),
				      run->pages + done, &left);
		done += count;
		cond_resched();
	}
	return err;
}

/* Under the session's lock: the region, held and counted as mapped. */
static struct vcuda_front_region *
region_to_map(struct vcuda_front_session *session, u32 index)
{
	struct vcuda_front_region *region = session->regions[index];

	if (!region || region->state != VCUDA_REGION_LIVE)
		return NULL;
	kref_get(&region->kref);
	atomic_inc(&region->mappings);
	return region;
}

int vcuda_front_region_map(struct vcuda_front_session *session, u32 index,
			   struct vm_area_struct *vma)
{
	struct vcuda_front_region *region;
	int err = -EINVAL;

	if (index >= VCUDA_REGIONS_MAX || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	mutex_lock(&session->lock);
	region = region_to_map(session, index);
	mutex_unlock(&session->lock);
	if (!region)
		return -ENXIO;

	/*
	 * Not for a forked child, whose session this is not; not in a core
	 * dump, which would hold the GPU's data; never code, since the other
	 * side writes it.
	 */
	vcuda_vm_flags_change(vma, VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP,
			      VM_MAYEXEC);
	if (!(vma->vm_flags & VM_EXEC) && vma_pages(vma) == region->run.count)
		err = insert_pages(vma, &region->run);
	if (err) {
		atomic_dec(&region->mappings);
		vcuda_front_region_put(region);
		return err;
	}
	vma->vm_private_data = region;
	vma->vm_ops = &region_vm_ops;
	return 0;
}
